// Constants that the build defines (vite.config.ts).

/** __STEPS__ is the number of steps that were recorded from a real API server and that the simulator is compared with. */
declare const __STEPS__: number
/** __SOURCE__ is the address of the source repository. */
declare const __SOURCE__: string
