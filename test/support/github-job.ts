import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { adaptForTest, sh, type Variables } from './documentation-runs.ts'

export interface GitHubStep {
  readonly id?: string
  readonly name?: string
  readonly if?: string
  readonly run?: string
  readonly env?: Variables
}

export interface GitHubJob {
  readonly env?: Variables
  readonly steps: readonly GitHubStep[]
}

type Context = Readonly<Record<string, unknown>>

const valueAt = (context: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => {
    const held = typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : new Map()
    return held.get(key)
  }, context)

/** The value of an expression: paths and texts in quotes, the first of `||` that is not empty. */
function evaluate(expression: string, context: Context): string {
  for (const part of expression.split('||').map(text => text.trim())) {
    const value = part.startsWith("'") ? part.slice(1, -1) : valueAt(context, part)
    if (value !== undefined && value !== null && value !== '') return String(value)
  }
  return ''
}

const fill = (text: string, context: Context): string =>
  String(text).replace(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => evaluate(expression, context))

/** A program that records its words and answers from files: gh-view.json, gh-list.json, gh-permission.json, gh-events.json. */
const gh = `
case "$1 $2" in
  'pr view') file=gh-view.json ;;
  'pr list') file=gh-list.json ;;
  'pr comment')
    echo "$*" | sed 1q >> gh.log
    [ "$4" = --body-file ] && cat "$5" >> comments.md || printf '%s\\n' "$5" >> comments.md
    exit ;;
  *DELETE*|'api --silent') echo "$*" >> gh.log; exit ;;
  'api --paginate') file=gh-events.json ;;
  *permission) file=gh-permission.json ;;
  *) echo "unknown: $*" >&2; exit 99 ;;
esac
while [ $# -gt 1 ] && [ "$1" != --jq ]; do shift; done
if [ "$1" = --jq ]; then jq -r "$2" "$file"; else cat "$file"; fi`

/** A remote whose pull requests have the head in gh-view.json. */
const git = `
case "$*" in
  *ls-remote*) for ref; do :; done; printf '%s\\t%s\\n' "$(jq -r .headRefOid "$(dirname "$0")/../gh-view.json")" "$ref" ;;
  *) PATH=\${PATH#*:} exec git "$@" ;;
esac`

interface Settings {
  readonly env: Variables
  readonly context: Context
  /** The step whose programs all fail. */
  readonly failing?: number
  /** The step during which somebody cancels the job. It is not run. */
  readonly cancelled?: number
}

/** Runs a job in a folder, as a runner of GitHub does. */
export async function runJob(job: GitHubJob, folder: string, settings: Settings) {
  const programs = join(folder, 'programs')
  const broken = join(folder, 'broken')
  for (const place of [programs, broken]) mkdirSync(place, { recursive: true })
  for (const [name, script] of Object.entries({ gh, git, npm: '' }))
    writeFileSync(join(programs, name), `#!/bin/sh${script}\n`, { mode: 0o755 })
  for (const name of ['gh', 'jq', 'mergeq', 'npm', 'node', 'git'])
    writeFileSync(join(broken, name), '#!/bin/sh\necho partial\nexit 1\n', { mode: 0o755 })
  const steps: Record<string, { outcome: string; outputs: Variables }> = {}
  const codes: (number | 'skipped' | 'cancelled')[] = []
  let state: 'success' | 'failure' | 'cancelled' = 'success'
  for (const [index, step] of job.steps.entries()) {
    const condition = (step.if ?? 'success()').replace(/^\$\{\{ | \}\}$/g, '')
    const runs = {
      'success()': state === 'success',
      'failure()': state === 'failure',
      'cancelled()': state === 'cancelled',
      '!cancelled()': state !== 'cancelled',
      'always()': true,
    }[condition]
    if (runs === undefined) throw new Error(`unknown condition: ${condition}`)
    let code: number | 'skipped' | 'cancelled' = 'skipped'
    const output = join(folder, `output-${index}`)
    if (settings.cancelled === index) code = 'cancelled'
    else if (runs && step.run === undefined) code = 0
    else if (runs) {
      const context = { ...settings.context, steps }
      const own = Object.entries({ ...job.env, ...step.env }).map(([name, value]) => [
        name,
        fill(value, context),
      ])
      const path = `${settings.failing === index ? `${broken}:` : ''}${programs}:${settings.env.PATH}`
      const env = { ...settings.env, ...Object.fromEntries(own), GITHUB_OUTPUT: output, PATH: path }
      code = Number((await sh(['bash', '-e', '-c', adaptForTest(step.run ?? '')], folder, env)).code)
    }
    codes.push(code)
    const lines = existsSync(output) ? readFileSync(output, 'utf8').trim().split('\n') : []
    const outputs = Object.fromEntries(lines.map(line => line.split(/=(.*)/s)))
    const outcome = code === 0 ? 'success' : typeof code === 'number' ? 'failure' : code
    if (step.id !== undefined) steps[step.id] = { outcome, outputs }
    if (code === 'cancelled') state = 'cancelled'
    else if (typeof code === 'number' && code !== 0 && state === 'success') state = 'failure'
  }
  const read = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''
  return { state, codes, comments: read('comments.md'), log: read('gh.log') }
}
