// The panel of objects: tables, and one object in detail.
export { default } from '../objects/Objects'
