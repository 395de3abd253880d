// The drawer beside the panel, which contains the inspector. The user opens and closes it. Until then, it is shown in a wide window, unless
// the newest line printed its whole answer itself: a table of kubectl needs the width.
import { computed, signal } from '@preact/signals'
import { detailed } from '../console/printed'
import { recall, remember, tab } from './page'
import { live, opInView, rehearsing, selected } from './player'
import { ready, transcript } from './session'
import { opening } from './worlds'

const chosen = signal(recall('drawer')) // open, closed, or empty until the user chooses

/** entriesInView are the entries of the transcript up to the frame in view. */
export const entriesInView = computed(() => (live.value && !rehearsing.value ? transcript.value : transcript.value.filter(({ op }) => op <= opInView.value)))

const wide = () => typeof matchMedia === 'function' && matchMedia('(min-width: 1181px)').matches

/** drawer reports whether the inspector is shown. A selected frame opens it. */
export const drawer = computed(() => selected.value > 0 || chosen.value === 'open' || (chosen.value === '' && wide()
  && (tab.value !== 'console' || (detailed(entriesInView.value) ?? (opening.value || !ready.value)))))

export function toggleDrawer(): void {
  chosen.value = drawer.value ? 'closed' : 'open'
  if (chosen.value === 'closed') selected.value = 0
  remember('drawer', chosen.value)
}
