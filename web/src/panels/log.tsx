// The panel of the log: all frames as text, with the inspector.
import { TextLog } from '../timeline/Timeline'
import { Inspector } from '../ui/Inspector'

export default function LogPanel() {
  return <div class="two"><TextLog /><Inspector /></div>
}
