// Courses is the dialog of courses: the course that the learner takes, a form to create one, and the check of a learner's code.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { myDraft } from '../lessons/draft'
import { catalogue } from '../lessons/progress'
import { unpack } from '../share/codec'
import { text } from '../text'
import { Icon } from '../ui/Icon'
import { begin, checkedWork, courseLink, join, keep, titleOf, toCheck, verify, work, type Course, type Verdict, type Work } from './course'

const words = text.course

export default function Courses() {
  return (
    <>
      {toCheck.value ? <Checked of={toCheck.value} /> : work.value && <Taking of={work.value} />}
      <details open={!work.value && !toCheck.value}><summary>{words.make}</summary><Maker /></details>
      <details><summary>{words.check}</summary><Check /></details>
    </>
  )
}

function Taking({ of }: { of: Work }) {
  const { course, done, name } = of
  const next = done.findIndex(taken => !taken)
  return (
    <section class="course">
      <h3>{course.title}</h3>
      <p class="hint">{words.progress(done.filter(Boolean).length, done.length)}</p>
      <ol>
        {course.lessons.map((lesson, i) => (
          <li key={i}>
            <button class="quiet" onClick={() => begin(i)}>{titleOf(lesson)}</button> {done[i] && <span class="hint"><Icon name="check" /> {text.lessons.done}</span>}
          </li>
        ))}
      </ol>
      {next >= 0 && <button class="primary" onClick={() => begin(next)}>{text.lessons.next}: {titleOf(course.lessons[next] ?? '')}</button>}
      {next < 0 && (
        <>
          <p>{words.finished}</p>
          <label><span>{words.name}</span><input value={name} onInput={event => keep({ ...of, name: event.currentTarget.value })} /></label>
          <Link id="code" label={words.code} of={of} />
        </>
      )}
      <button class="quiet" onClick={() => keep(null)}>{words.leave}</button>
    </section>
  )
}

function Link({ id, label, of }: { id: string; label: string; of: Course | Work }) {
  const [link, setLink] = useState('')
  const [copied, setCopied] = useState('')
  const copy = () => navigator.clipboard.writeText(link).then(() => setCopied(link), () => document.querySelector<HTMLInputElement>(`#${id}`)?.select())
  useEffect(() => {
    let current = true
    void courseLink(of).then(made => { if (current) setLink(made) })
    return () => { current = false }
  }, [of])
  return (
    <p class="split ends">
      <label class="grow"><span>{label}</span><input id={id} class="mono" readOnly value={link} onFocus={event => event.currentTarget.select()} /></label>
      <button onClick={() => void copy()}>{copied === link && link !== '' ? text.sharing.copied : words.copy}</button>
    </p>
  )
}

function Maker() {
  const [written, setCourse] = useState<Course>({ title: '', lessons: [] })
  const [wrong, setWrong] = useState(false)
  const { lessons } = written
  const title = written.title || titleOf(lessons[0] ?? '')
  const course = useMemo(() => ({ title, lessons }), [title, lessons])
  // Changes apply to the newest state, which the page may not have drawn yet.
  const change = (what: (now: Course) => Partial<Course>) => setCourse(now => ({ ...now, ...what(now) }))
  const rename = (title: string) => change(() => ({ title }))
  const add = (lesson: string) => change(now => ({ lessons: [...now.lessons, lesson] }))
  const lift = (i: number) => change(({ lessons }) => ({ lessons: lessons.with(i - 1, lessons[i] ?? '').with(i, lessons[i - 1] ?? '') }))
  const drop = (i: number) => change(({ lessons }) => ({ lessons: lessons.toSpliced(i, 1) }))
  const complete = checkedWork(course) !== null
  const load = async (file: File | undefined) => {
    const loaded = checkedWork(await file?.text().then(JSON.parse).catch(() => null))
    if (loaded) setCourse(loaded.course)
    setWrong(!loaded)
  }
  return (
    <>
      <p class="hint">{words.about}</p>
      <label><span>{words.name1}</span><input id="course-title" value={written.title} placeholder={title} onInput={event => rename(event.currentTarget.value)} /></label>
      <ol>
        {lessons.map((lesson, i) => (
          <li key={`${i} ${lesson}`}>
            {titleOf(lesson)}{' '}
            {i > 0 && <button class="quiet" onClick={() => lift(i)}>{words.up}</button>}
            <button class="quiet" onClick={() => drop(i)}>{text.objects.remove}</button>
          </li>
        ))}
      </ol>
      <p class="split ends">
        <select id="course-add" aria-label={words.add} value="" onChange={event => add(event.currentTarget.value)}>
          <option value="">{words.add}</option>
          {catalogue.value.map(info => <option key={info.id} value={info.id}>{info.title}</option>)}
          {myDraft() && <option value={myDraft()}>{titleOf(myDraft())}</option>}
        </select>
        <label class="file"><span>{words.open}</span><input type="file" accept=".json" onChange={event => void load(event.currentTarget.files?.[0])} />
          {wrong && <span class="bad" role="status">{words.noCode}</span>}</label>
      </p>
      {complete && (
        <>
          <Link id="course-link" label={words.link} of={course} />
          <p class="split">
            <button onClick={() => join(course)}>{words.take}</button>
            <a download="course.json" href={URL.createObjectURL(new Blob([JSON.stringify(course, null, 2)], { type: 'application/json' }))}>{words.save}</a>
          </p>
        </>
      )}
    </>
  )
}

function Check() {
  const [wrong, setWrong] = useState('')
  const check = async (code: string) => {
    try {
      const found = checkedWork((await unpack(code.slice(code.indexOf('#') + 1).trim())).world.course)
      if (!found) throw new Error(words.noCode)
      setWrong('')
      toCheck.value = found
    } catch (error) {
      setWrong((error as Error).message)
    }
  }
  return (
    <label><span>{words.paste}</span>
      <input id="check-code" class="mono grow" onInput={event => void check(event.currentTarget.value)} />
      {wrong && <span class="bad" role="status">{wrong}</span>}
    </label>
  )
}

function Checked({ of }: { of: Work }) {
  const [verdicts, setVerdicts] = useState<Verdict[] | null>(null)
  useEffect(() => {
    let current = true
    setVerdicts(null)
    void verify(of).then(all => { if (current) setVerdicts(all) })
    return () => { current = false }
  }, [of])
  const solved = verdicts?.filter(one => one.done).length ?? 0
  return (
    <section class="course checked" role="status">
      <h3>{of.course.title}{of.name && `: ${of.name}`}</h3>
      {!verdicts ? <p class="hint">{words.checking}</p> : <p class={solved < verdicts.length ? 'bad' : ''}><b>{words.solved(solved, verdicts.length)}</b></p>}
      <ol>
        {of.course.lessons.map((lesson, i) => {
          const verdict = verdicts?.[i]
          return <li key={i}>{titleOf(lesson)} {verdict && <span class="hint">{verdict.done ? words.took(verdict.requests, verdict.right, verdict.questions) : words.unsolved}</span>}</li>
        })}
      </ol>
      <button class="quiet" onClick={() => { toCheck.value = null }}>{text.lessons.close}</button>
    </section>
  )
}
