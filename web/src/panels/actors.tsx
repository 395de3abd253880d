// The panel of actors: servers, clients and faults, with the inspector.
import Actors from '../actors/Actors'
import { Inspector } from '../ui/Inspector'

export default function ActorsPanel() {
  return <div class="two"><Actors /><Inspector /></div>
}
