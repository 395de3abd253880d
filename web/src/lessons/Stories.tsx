// Stories is the gallery of bugs that occurred in real projects: scenarios that the page plays with their captions, and patterns that avoid
// such bugs.
import { useEffect, useState } from 'preact/hooks'
import { language } from '../language'
import { notice } from '../state/page'
import { rehearse } from '../state/player'
import { storyOf } from '../state/story'
import { enter, readingTime } from '../state/worlds'
import { text } from '../text'
import { Dialog } from '../ui/Dialog'

type Summary = [title: string, about: string]

interface Story {
  id: string
  lesson: string
  scenario: string
  en: Summary
  'zh-CN': Summary
}

interface Gallery {
  stories: Story[]
  patterns: { file: string; seen: string; mistake: string; pattern: string }[]
}

const words = text.story
let fetched: Promise<Gallery> | undefined

const fetchGallery = () => (fetched ??= fetch(new URL('stories.json', document.baseURI)).then(answer => answer.json() as Promise<Gallery>))

export function Stories() {
  const [gallery, setGallery] = useState<Gallery | null>(null)
  useEffect(() => {
    fetchGallery().then(setGallery, (error: Error) => {
      fetched = undefined
      notice.value = error.message
    })
  }, [])
  const open = async ({ scenario, lesson, [language.value]: [title] }: Story) => {
    if (await enter({ scenario, story: { ...storyOf(scenario), title, lesson } })) rehearse(readingTime)
  }
  return (
    <Dialog title={words.title} wide>
      <p class="hint">{words.gallery}</p>
      <ul class="catalogue gallery">
        {gallery?.stories.map(story => (
          <li key={story.id}>
            <button class="lesson" data-story={story.id} onClick={() => void open(story)}>
              <span><b>{story[language.value][0]}</b><span class="about">{story[language.value][1]}</span></span>
            </button>
          </li>
        ))}
      </ul>
      <h3>{words.patterns}</h3>
      <p class="hint">{words.aboutPatterns}</p>
      <ul class="plain" lang="en">
        {gallery?.patterns.map(({ file, seen, mistake, pattern }) => (
          <li key={file}>
            <b>{pattern}</b>: {mistake} <span class="hint small">{seen} · <a href={`${__SOURCE__}/blob/main/examples/gallery/${file}`}>{file}</a></span>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
