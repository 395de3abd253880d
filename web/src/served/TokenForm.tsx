// TokenForm asks for a token after a served cluster has refused the page.
import { useEffect, useRef } from 'preact/hooks'
import { text } from '../text'
import { attachServed } from './attach'
import { says } from './texts'
import { keepToken, wanted } from './token'

const words = text.served

export default function TokenForm() {
  const own = says()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  const send = (event: Event) => {
    event.preventDefault()
    keepToken(input.current?.value.trim() ?? '')
    void attachServed()
  }
  return (
    <form class="token" onSubmit={send}>
      <h2>{words.asks}</h2>
      <p class="bad" role="status">{wanted.value}</p>
      <p>{own.which}</p>
      <label><span>{own.token}</span><input ref={input} type="password" class="mono" autocomplete="off" spellcheck={false} /></label>
      <button type="submit" class="primary">{own.attach}</button>
    </form>
  )
}
