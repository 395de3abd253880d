// The panel of raw HTTP: a form for any request, and its answer.
export { default } from '../console/RawRequest'
