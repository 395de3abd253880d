// The panel of the console: the transcript, with the inspector.
import { Console } from '../console/Transcript'
import { Inspector } from '../ui/Inspector'

export default function ConsolePanel() {
  return <div class="two"><Console /><Inspector /></div>
}
