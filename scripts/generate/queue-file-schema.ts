import manifest from '../../package.json' with { type: 'json' }
import { queueSettings } from '../../src/api/operations/queue-settings.ts'
import type { Param } from '../../src/api/params.ts'
import { isOnlyRead, settingNames } from '../../src/commands/queue/shared/files/queue-file.ts'
import type { Type } from '../../src/values/types.ts'

export const schemaPath = 'docs/reference/queue-file.schema.json'

const filesUrl = manifest.homepage
  .replace('github.com', 'raw.githubusercontent.com')
  .replace('#readme', '/main')

const text = { type: 'string', minLength: 1 }

/** The JSON Schema of the values of a type; only required statuses can be null. */
function schemaOf({ form, range, declaration }: Type<unknown>): object {
  if (form === 'repeated') return { type: ['array', 'null'], items: text }
  if (form === 'flag') return { type: 'boolean' }
  if (range !== undefined) return { type: 'integer', minimum: range[0], maximum: range[1] }
  const words = [...declaration.matchAll(/'(.*?)'/g)].map(([, word]) => word)
  return words.length > 0 ? { enum: words } : text
}

/** The JSON Schema of a queue file, from the table of the settings. */
export const queueFileSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: `${filesUrl}/${schemaPath}`,
  title: 'Queue file',
  description: 'Settings of a merge queue for `mergeq queue diff` and `mergeq queue apply`',
  type: 'object',
  properties: {
    $schema: { type: 'string' },
    repo: { ...text, description: 'Repository: [host/]owner/name' },
    targetBranch: { ...text, description: 'Branch that the queue merges into' },
    defaults: { type: 'boolean', description: 'With false, files of defaults do not count for this file' },
    created: {
      type: 'boolean',
      description: 'Written by `queue apply --record` for a queue that did not exist before',
    },
    settings: {
      type: ['object', 'null'],
      description: 'Settings that are not listed stay unchanged',
      // The service may have further settings.
      properties: Object.fromEntries(
        settingNames.map(name => {
          const setting = new Map<string, Param<unknown>>(Object.entries(queueSettings)).get(name)
          if (setting === undefined) throw new Error(`no setting ${name}`)
          const minimum = isOnlyRead(name, 0) ? { minimum: 0 } : {}
          return [name, { description: setting.summary, ...schemaOf(setting.type), ...minimum }]
        }),
      ),
    },
  },
  additionalProperties: false,
}
