// Fields shows a decoded protobuf message, field by field: its offset in bytes, its number, its wire type and its value.
import type { Field } from '../engine/protocol'
import { text } from '../text'

export function Fields({ fields }: { fields: Field[] }) {
  return <ul class="fields mono">{fields.map(field => <Item key={field.offset} field={field} />)}</ul>
}

function Item({ field }: { field: Field }) {
  const head = (
    <>
      <span class="offset" title={text.objects.offset}>{field.offset.toString(16).padStart(4, '0')}</span>
      <span class="number" title={text.objects.field}>{field.field}</span>
      <span class="name">{field.name}</span>
      <span class="wire" title={text.objects.wireType}>{field.wire}, {field.length}</span>
      {field.value !== undefined && <span class="value">{field.value}</span>}
    </>
  )
  if (!field.children?.length) return <li><div class="leaf">{head}</div></li>
  return (
    <li>
      <details open>
        <summary>{head}</summary>
        <Fields fields={field.children} />
      </details>
    </li>
  )
}
