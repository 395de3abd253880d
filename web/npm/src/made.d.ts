// The types of the files that build.mjs adds to dist.
declare module '*/glue.js' {
  /** glue returns the class Go of the Go toolchain's wasm_exec.js, which uses scope as its global object. */
  export function glue(scope: object, fs: { writeSync(fd: number, bytes: Uint8Array): number }): new () => {
    importObject: WebAssembly.Imports
    run(instance: WebAssembly.Instance): Promise<void>
    exit: (code: number) => void
    _scheduledTimeouts: Map<number, ReturnType<typeof setTimeout>>
  }
}

declare module '*/unpack.js' {
  /** unpacking returns a transform from a packed engine to a wasm file. */
  export function unpacking(): TransformStream<Uint8Array, Uint8Array>
}
