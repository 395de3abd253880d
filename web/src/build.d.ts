// What the build puts into the page: vite.config.ts.

/** __STEPS__ is the number of steps recorded from a real API server that the simulator is compared with. */
declare const __STEPS__: number
/** __SOURCE__ is where the source is. */
declare const __SOURCE__: string
