import { usageError } from '../base/errors.ts'
import { findBranchProblem } from '../values/branch.ts'
import {
  isSameRepository,
  namesHost,
  parseRepository,
  type Repository,
  readRepository,
  repositoryName,
} from '../values/repository.ts'
import { branchName } from '../values/text.ts'
import type { Checkout } from './checkout.ts'
import type { CiJob } from './ci-job.ts'
import { isContinuousIntegration } from './ci-systems.ts'
import { gitOutput, listRemotes } from './git.ts'
import type { ResolvedValue } from './setting-definitions.ts'
import { choose, namePullRequest, type SourceContext } from './source-context.ts'

/** What the rules know: other sources, too. */
export interface RuleContext extends SourceContext {
  ciJob(): Promise<CiJob>
  checkout(): Promise<Checkout>
}

/** Decides about a value that a source gives: returns what is used, or undefined for what the next source gives. */
type Rule = (found: ResolvedValue, context: RuleContext) => Promise<ResolvedValue | undefined>

/** A branch that a person names is one that git allows, and not that of a remote, but for `refs/heads/<name>`. */
export const typedBranch: Rule = async (found, { host, give }) => {
  const { value, origin } = found
  const isExact = value.startsWith('refs/heads/')
  const name = branchName(value)
  const use = (meant: string) => give('targetBranch', meant)
  const refused = findBranchProblem(name, isExact)
  if (refused !== undefined && name !== '')
    throw usageError(
      `${origin}: '${name}' ${refused.problem}, so it is no branch.`,
      refused.meant === undefined ? 'Use the name of a branch, such as main.' : `Use ${use(refused.meant)}.`,
    )
  if (isExact || !name.includes('/')) return found
  const remotes = (await listRemotes(host)).map(each => each.name)
  const remote = remotes.find(each => name.startsWith(`${each}/`))
  if (remote === undefined) return found
  for (const ref of [`refs/heads/${name}`, ...remotes.map(each => `refs/remotes/${each}/${name}`)])
    if ((await gitOutput(host, 'show-ref', '--verify', '--quiet', ref)) !== undefined) return found
  throw usageError(
    `${origin}: '${name}' begins with the name of the remote ${remote}, and the checkout has no branch ${name}.`,
    `Use ${use(name.slice(remote.length + 1))}, or ${use(`refs/heads/${name}`)} for a branch of that name.`,
  )
}

/** In a CI job, the repository of the project file, which may come from a pull request, is that of the job. */
export const projectRepository: Rule = async (file, context) => {
  const { changes, checks, give, host } = context
  const job = isContinuousIntegration(host.env) ? await (await context.ciJob()).find('repo') : undefined
  const [named, built] = [readRepository(file.value), job && readRepository(job.value)]
  if (job === undefined || named === undefined || built === undefined) return file
  const isSame = isSameRepository(namesHost(file.value) ? named : { ...named, host: built.host }, built)
  if (isSame) return { ...file, value: repositoryName(built) }
  const [one, other] = [repositoryName(named), repositoryName(built)]
  return choose(context, file, {
    isRefused: changes || checks,
    problem: `${file.origin} names the repository ${one}, but this job is one of ${other} (${job.origin}).`,
    advice: `The file may come from a pull request. Use ${give('repo', other)} or ${give('repo', one)}, or set MERGEQ_REPO.`,
    remark: `Using the repository ${one} of ${file.origin}; this job is one of ${other}.`,
  })
}

/** In a CI job of a pull request, the target branch of the project file is its base. */
export const projectBranch: Rule = async (file, context) => {
  const { changes, give, host } = context
  const base = isContinuousIntegration(host.env) ? await (await context.ciJob()).findBase() : undefined
  const named = branchName(file.value)
  if (base === undefined || base.value === named) return file
  return choose(context, base, {
    isRefused: changes,
    problem: `${file.origin} names the target branch ${named}, but the base of this job is ${base.value} (${base.origin}).`,
    advice: `Use ${give('targetBranch', base.value)} or ${give('targetBranch', named)}, or set MERGEQ_TARGET_BRANCH.`,
    remark: `Using the target branch ${base.value} of this job, not ${named} of ${file.origin}.`,
  })
}

/** The stored repository is that of the CI job or of the checkout. */
export const storedRepository: Rule = async (stored, context) => {
  const { changes, checks, give } = context
  const own = readRepository(stored.value)
  const here = own && (await findOtherRepository(own, context))
  if (own === undefined || here === undefined) return stored
  const [one, other] = [repositoryName(own), repositoryName(parseRepository(here.value))]
  const place = here.origin.startsWith('git ') ? 'checkout' : 'job'
  const problem = `The ${stored.origin} names the repository ${one}, but this ${place} is one of ${other} (${here.origin})`
  return choose(context, here, {
    isRefused: changes || checks,
    problem: `${problem}.`,
    advice: `Use ${give('repo', other)} or ${give('repo', one)}, or set MERGEQ_REPO. For every command here, name the repository in .mergeq.json.`,
    remark: `${problem}: using ${other}.`,
  })
}

/** The pull request of a CI job is one of the repository of the job: a command about another one names its own. */
export const jobPullRequest: Rule = async (found, { ciJob, repo }) => {
  const [job, used] = [await (await ciJob()).find('repo'), await repo()]
  const built = job && readRepository(job.value)
  if (built === undefined || used === undefined || isSameRepository(built, used)) return found
  throw usageError(
    `#${found.value} (${found.origin}) is a pull request of ${repositoryName(built)}, not of ${repositoryName(used)}.`,
    namePullRequest,
  )
}

/** A stored target branch belongs to the repository that is stored with it, and holds everywhere if none is. */
export const storedBranch: Rule = async (stored, { profile, repo }) => {
  const named = await profile.find('repo')
  const own = named && readRepository(named.value)
  if (own === undefined) return stored
  const used = await repo()
  return used !== undefined && isSameRepository(used, own) ? stored : undefined
}

/** Returns the repository of the CI job, else of the checkout, if that is another one. */
async function findOtherRepository(
  own: Repository,
  { ciJob, checkout: openCheckout }: RuleContext,
): Promise<ResolvedValue | undefined> {
  const isOther = ({ value }: ResolvedValue) => {
    const repo = readRepository(value)
    return repo !== undefined && !isSameRepository(repo, own)
  }
  const job = await (await ciJob()).find('repo')
  if (job !== undefined) return isOther(job) ? job : undefined
  const checkout = await openCheckout()
  const remotes = await checkout.listRepositories()
  if (remotes.length === 0 || !remotes.every(isOther)) return undefined
  return (await checkout.find('repo')) ?? remotes[0]
}
