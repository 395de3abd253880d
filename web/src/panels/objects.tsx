// The panel of objects: tables, and one object in full.
export { default } from '../objects/Objects'
