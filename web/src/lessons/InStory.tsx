// InStory shows a story in the guide: its captions, what it is about, and where it was seen.
import { story } from '../state/session'
import { captions } from '../state/worlds'
import { text } from '../text'
import Story from './Story'

const words = text.story

export default function InStory() {
  const { title, about = '' } = story.value ?? {}
  return (
    <>
      <p class="eyebrow">{words.seen}</p>
      <h2>{title || words.untitled}</h2>
      {captions.value.length > 0 && <div class="note caption" role="status"><Story /></div>}
      <div class="prose" lang="en">{about.split('\n\n').map(part => <p key={part}>{linked(part)}</p>)}</div>
    </>
  )
}

// linked turns the numbers of issues into links. A number without a repository refers to the last repository before it.
function linked(said: string) {
  let repository = ''
  return said.split(/((?:[\w.-]+\/[\w.-]+)?#\d+)/).map((part, i) => {
    const issue = /^([\w.-]+\/[\w.-]+)?#(\d+)$/.exec(part)
    if (issue?.[1]) repository = issue[1]
    return issue && repository ? <a key={i} href={`https://github.com/${repository}/issues/${issue[2]}`} target="_blank" rel="noopener">{part}</a> : part
  })
}
