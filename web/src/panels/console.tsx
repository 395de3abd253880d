// The panel of the console: what was typed and answered, with the frame behind it.
import { Console } from '../console/Transcript'
import { Inspector } from '../ui/Inspector'

export default function ConsolePanel() {
  return <div class="two"><Console /><Inspector /></div>
}
