import type { SettingKey } from './setting-definitions.ts'

export type SourceName = 'option' | 'environment' | 'project file' | 'profile' | 'CI job' | 'git' | 'default'

/** What may give a setting, and when its repository and target branch count. */
export interface Source {
  readonly name: SourceName
  /** What gives the repository, for documents; left out where it gives none. */
  readonly repo?: string
  readonly targetBranch?: string
  /** What decides whether a value that was found is used: a function of source-rules.ts. */
  readonly rules?: Readonly<Partial<Record<SettingKey, keyof typeof import('./source-rules.ts')>>>
  readonly except: readonly string[]
}

/** Where settings come from, the first that has a value; docs/reference/cli.md has this table. */
export const sources: readonly Source[] = [
  {
    name: 'option',
    repo: '`-R`, the URL of a pull request',
    targetBranch: '`-b`',
    rules: { targetBranch: 'typedBranch' },
    except: ['A branch that git refuses, a URL, or a branch that begins with the name of a remote: 2'],
  },
  {
    name: 'environment',
    repo: '`MERGEQ_REPO`',
    targetBranch: '`MERGEQ_TARGET_BRANCH`',
    rules: { targetBranch: 'typedBranch' },
    except: ['A branch as above'],
  },
  {
    name: 'project file',
    repo: '`repo` of `.mergeq.json`',
    targetBranch: '`targetBranch` of `.mergeq.json`',
    rules: { repo: 'projectRepository', targetBranch: 'projectBranch' },
    except: [
      'In a CI job of another repository: a change, a check and a gate are 2, another read uses that of the file',
      'In a CI job of a pull request with another base: a change is 2, a read uses the base',
    ],
  },
  {
    name: 'profile',
    repo: '`repo` of the profile, then of the machine',
    targetBranch: '`target-branch` of the profile, then of the machine',
    rules: { repo: 'storedRepository', targetBranch: 'storedBranch' },
    except: [
      'The CI job, or every remote of the checkout, has another repository: a change, a check and a gate are 2, another read uses that one; a checkout of the home directory does not count',
      'A target branch is not used where the repository stored with it is not',
    ],
  },
  {
    name: 'CI job',
    repo: 'the variables of the job',
    targetBranch: 'the base of its pull request, else the branch that is built',
    rules: { pr: 'jobPullRequest' },
    except: [
      'The command is about another repository than that of the job: the pull request of the job is not used (2)',
      'A job without a pull request that builds another branch than the default one: a change is 2, a read uses the default branch',
    ],
  },
  {
    name: 'git',
    repo: 'the remote of `gh repo set-default`, else `origin`, `upstream` or the only remote',
    targetBranch: '`HEAD` of the remote of the repository',
    except: ['Several remotes name different repositories: a change is 2, a read uses `upstream`'],
  },
  { name: 'default', except: [] },
]
