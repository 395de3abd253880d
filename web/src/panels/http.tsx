// The panel of raw HTTP: any request, and its answer.
export { default } from '../console/RawRequest'
