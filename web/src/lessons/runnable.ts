// Which pieces of code in a text are lines of the scenario language, and not only words of it.
const commands = new Set(('get list watch create apply replace patch delete deletecollection request tick clock settle '
  + 'compact expire restore lag cut resume restart stall close stop route hold release jump fault informer pager '
  + 'controller step crash start expect let').split(' '))

/** runnable says whether code is a whole command, and not only the name of one. */
export function runnable(code: string): boolean {
  const [first = '', ...rest] = code.trim().split(/\s+/)
  return commands.has(first) && (rest.length > 0 || ['compact', 'expire', 'settle'].includes(first))
}
