import type { Host } from '../host/host.ts'
import { runGit } from './run-git.ts'

/**
 * Returns the names of the branches that the checkout knows of its remotes, each once, in the order of git.
 * No remote is asked. Returns no names without git and outside a checkout.
 */
export async function listRemoteBranches(host: Host): Promise<readonly string[]> {
  const [remotes = '', refs = ''] = await Promise.all([
    runGit(host, 'remote'),
    runGit(host, 'for-each-ref', '--format=%(refname)', 'refs/remotes'),
  ])
  // The name of a remote may contain slashes.
  const prefixes = remotes
    .split('\n')
    .filter(name => name !== '')
    .map(name => `refs/remotes/${name}/`)
    .sort((one, other) => other.length - one.length)
  const branches = refs.split('\n').flatMap(ref => {
    const prefix = prefixes.find(prefix => ref.startsWith(prefix))
    return prefix === undefined ? [] : [ref.slice(prefix.length)]
  })
  return [...new Set(branches)].filter(branch => branch !== 'HEAD')
}
