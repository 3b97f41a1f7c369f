import { type Described, operationOf, type Route } from '../contract/endpoint.ts'

/** What stands behind the flags in a command's help: what it sends, and examples that work. */
export function helpAfter({
  examples,
  route,
}: Pick<Described, 'examples'> & { readonly route?: Route }): string {
  const sent = route === undefined ? [] : ['', `Sends: ${operationOf(route)}`]
  const shown = examples.length === 0 ? [] : ['', 'Examples:', ...examples.map(example => `  ${example}`)]
  return [...sent, ...shown, ''].join('\n')
}
