// InStory is a story in the guide: what it is about, and where it was seen, with the captions of its world.
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

// linked makes links of the numbers of issues; one without a repository is of that of the one before.
function linked(said: string) {
  let repository = ''
  return said.split(/((?:[\w.-]+\/[\w.-]+)?#\d+)/).map((part, i) => {
    const issue = /^([\w.-]+\/[\w.-]+)?#(\d+)$/.exec(part)
    if (issue?.[1]) repository = issue[1]
    return issue && repository ? <a key={i} href={`https://github.com/${repository}/issues/${issue[2]}`} target="_blank" rel="noopener">{part}</a> : part
  })
}
