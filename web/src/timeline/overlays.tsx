// The layers over and under the marks: the horizon of each lane, the compacted history, and continue tokens.
import type { TokenSpan } from '../engine/protocol'
import { text } from '../text'
import type { Lane, Picture } from './fold'
import { rowHeight, rowY, type Layout } from './layout'

/** Horizon is the bar of a lane. It ends at the highest revision that the lane knows. Its baseline goes from one x to another. */
export function Horizon({ lane, row, plan, from, to }: { lane: Lane; row: number; plan: Layout; from: number; to: number }) {
  const y = rowY(row)
  const start = lane.marks[0] ? plan.x(lane.marks[0].n) : plan.at(lane.horizon)
  const byTime = lane.reached ? plan.x(lane.reached) : start
  const end = lane.horizon === 0 || start === 0 ? start : plan.axis === 'time' ? byTime : Math.max(plan.at(lane.horizon), start)
  const state = lane.expired ? 'expired' : lane.closed ? 'closed' : ''
  return (
    <g class={`horizon ${lane.kind} ${state}`} aria-hidden="true">
      <line class="rail" x1={from} x2={to} y1={y} y2={y} />
      {start > 0 && <><rect class="known" x={start - 12} y={y - 13} width={Math.max(0, end - start) + 24} height="26" rx="5" />
      <path class="edge" d={`M${end + 12} ${y - 13} V${y + 13}`} /></>}
    </g>
  )
}

/** Compacted covers the compacted history, from the left edge to the compacted revision. */
export function Compacted({ shown, plan, height }: { shown: Picture; plan: Layout; height: number }) {
  if (!shown.compacted) return null
  const x = plan.axis === 'time' ? plan.x(shown.compactedAt) : plan.at(shown.compacted) + 13
  return (
    <g class="compacted" role="img" aria-label={text.timeline.compacted(shown.compacted)}>
      <defs>
        <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line x1="0" y1="0" x2="0" y2="7" />
        </pattern>
      </defs>
      <rect class="area" x="0" y={0} width={x} height={height} />
      <rect fill="url(#hatch)" x="0" y={0} width={x} height={height} />
      {plan.axis === 'time' && <line class="limit" x1={x} x2={x} y1="0" y2={height} />}
      {x > 130 && <text x={x - 8} y={14} text-anchor="end">{text.timeline.compacted(shown.compacted)}</text>}
    </g>
  )
}

/** Tokens draws brackets around the revisions of continue tokens. A token expires when its revision is compacted. */
export function Tokens({ tokens, shown, plan }: { tokens: TokenSpan[]; shown: Picture; plan: Layout }) {
  if (plan.axis === 'time') return null
  const bottom = rowY(Math.max(0, shown.lanes.length - 1)) + rowHeight / 2 - 6
  return (
    <g class="tokens">
      {tokens.map(token => {
        if (token.from > shown.last || (token.to && token.to <= shown.last)) return null
        const rv = Number(token.rv)
        if (!(rv > 0)) return null
        const expired = rv <= shown.compacted
        const x = plan.at(rv)
        const label = expired ? text.timeline.tokenExpired(token.rv) : text.timeline.token(token.rv)
        return (
          <g key={token.id} class={expired ? 'token expired' : 'token'} role="img" aria-label={`${token.label}: ${label}`}>
            <title>{`${token.label}: ${label}`}</title>
            <path d={`M${x - 6} ${rowY(0) - 17} H${x - 14} V${bottom} H${x - 6}`} />
            <path d={`M${x + 6} ${rowY(0) - 17} H${x + 14} V${bottom} H${x + 6}`} />
            <text x={x + 17} y={rowY(0) - 14}>{expired ? '410' : token.label}</text>
          </g>
        )
      })}
    </g>
  )
}
