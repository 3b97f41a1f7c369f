import { operationName } from '../api/operation.ts'
import type { OperationCommand } from '../cli/command.ts'
import { exitCodeList } from '../errors.ts'
import {
  commonMethodOptions,
  getMethodOptions,
  type MethodOption,
  methodName,
  renderOptionType,
} from './method-options.ts'
import { operationCommands } from './operation-commands.ts'

const indent = (lines: readonly string[]): string => lines.map(line => `  ${line}\n`).join('')

const renderOption = (option: MethodOption): readonly string[] => [
  `/** ${option.definition.summary}. */`,
  `readonly ${option.key}?: ${renderOptionType(option)}`,
]

/** The result type of each method, by the name of the method; every other method returns a `Receipt`. */
const resultTypes: Readonly<Record<string, string>> = {
  getSubmittedPullRequest: 'PullRequest',
  getMergeQueueTestingDetails: 'Document',
  getQueue: 'Queue',
  updateQueue: 'Queue | Receipt',
  getMergeQueueMetrics: 'readonly Sample[]',
  listFailingTests: 'FailingTests',
  getTestDetails: '{ readonly test: TestCase } & Document',
}

const optionsTypeName = (command: OperationCommand): string => {
  const name = methodName(command)
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Options`
}

const baseTypes = `// The types of mergeq as a library. Made from the operations' own table; see README.md, "As a library".

/** JSON as the service sent it. Fields that mergeq does not know are kept. */
export type Json = null | boolean | number | string | readonly Json[] | Document
export interface Document {
  readonly [key: string]: Json | undefined
}

/** A submitted pull request (service-api.md section 2.3); states in upper case. */
export interface PullRequest extends Document {
  readonly state?: string
  readonly isCurrentlySubmittedToQueue?: boolean
  readonly priorityValue?: number
  readonly priorityName?: string
}

/** A queue: its state, its settings, and the pull requests in it (service-api.md section 2.4). */
export interface Queue extends Document {
  readonly state?: string
  readonly enqueuedPullRequests?: readonly PullRequest[]
}

/** A test case (service-api.md section 2.5). */
export interface TestCase extends Document {
  readonly id?: string
  readonly name?: string
  readonly codeowners?: readonly string[]
  readonly quarantined?: boolean
}

/** All pages and windows as one list, each test once; \`window\` says what was covered, and whether it is complete. */
export interface FailingTests extends Document {
  readonly tests: readonly TestCase[]
  readonly window: { readonly start: string; readonly end: string; readonly complete: boolean }
}

/** One sample of a metric. */
export interface Sample extends Document {
  readonly name: string
  readonly labels: { readonly [label: string]: string }
  readonly value: number | string
}

/** What is known of a change. */
export interface Receipt extends Document {
  readonly operation: string
  readonly ok: boolean
  readonly delivery: 'confirmed' | 'confirmed-by-read' | 'not-applied' | 'unknown'
}
`

/** Returns the type declarations of the library as source text, generated from the operations. */
export function renderTypeDeclarations(): string {
  const kinds = [...new Set(exitCodeList.map(({ kind }) => kind))].filter(kind => kind !== 'ok')
  const parts = [
    baseTypes,
    `/** What a method rejects with. \`exit\` is the exit code of the same command line. */\nexport interface MergeqError extends Error {\n${indent(
      [
        "readonly name: 'MergeqError'",
        `readonly kind: ${kinds.map(kind => `'${kind}'`).join(' | ')}`,
        'readonly exit: number',
        '/** What to do next. */',
        'readonly hint?: string',
        'readonly status?: number',
        'readonly operation?: string',
        'readonly attempts?: number',
        'readonly requestId?: string',
        '/** What is known of a change that was sent. */',
        "readonly delivery?: 'not-applied' | 'unknown'",
        '/** The receipt of a change that failed, or the part of a list that was read. */',
        'readonly document: Json',
      ],
    )}}\n`,
    `/** What every method takes; what is left out is found where the command line finds it. */\nexport interface CommonOptions {\n${indent(commonMethodOptions.flatMap(renderOption))}}\n`,
    `export interface ClientOptions extends CommonOptions {\n${indent([
      '/** The API token; else `MERGEQ_TOKEN`, or the one that is stored for the base address. */',
      'readonly token?: string',
      '/** Ends every call that is under way. */',
      'readonly signal?: AbortSignal',
      '/** Told what the command line says on standard error: repeats, warnings, how a list ended. */',
      'readonly onNotice?: (text: string) => void',
    ])}}\n`,
    ...operationCommands.map(
      command =>
        `export interface ${optionsTypeName(command)} extends CommonOptions {\n${indent([
          ...getMethodOptions(command).flatMap(renderOption),
          '/** Fields of the body that mergeq does not know, by their dotted paths. */',
          'readonly set?: { readonly [path: string]: Json }',
        ])}}\n`,
    ),
    `export interface Client {\n${indent(
      operationCommands.flatMap(command => [
        `/** ${command.summary} (${operationName(command.operation.route)}). Rejects with a {@link MergeqError}. */`,
        `${methodName(command)}(options?: ${optionsTypeName(command)}): Promise<${resultTypes[methodName(command)] ?? 'Receipt'}>`,
      ]),
    )}}\n`,
    '/** A client of the service: the operations with the settings, repeats, limits and failures of the command line. */\nexport declare function createClient(options?: ClientOptions): Client\n',
  ]
  return parts.join('\n')
}
