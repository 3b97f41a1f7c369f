import { pluralizeFirst } from '../../domain/format.ts'
import { maxJsonSize } from '../../domain/limits.ts'
import { withNormalizedState } from '../../domain/states.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { toIso } from '../../domain/values/time.ts'
import { get, getString, isObject, type JsonObject } from '../../json.ts'
import { missingPartErrorWithMessage, type ResponseDecoder, readPageToken, recordDecoder } from '../decode.ts'
import type { PageProtocol } from '../list-reader.ts'
import { defineOperation } from '../operation.ts'
import { localParam, param } from '../param.ts'
import { queueParams } from './pull-requests.ts'
import { pullRequestFields, pullRequestListFields } from './service-fields.ts'

const key = 'pullRequests'

const pageDecoder: ResponseDecoder = {
  expects: 'json',
  maxBytes: maxJsonSize,
  read(response) {
    const [document = {}] = recordDecoder(record => record).read(response).records
    const { [key]: pullRequests } = document
    if (!Array.isArray(pullRequests) || !pullRequests.every(isObject))
      throw missingPartErrorWithMessage(document, { name: `list of pull requests (${key})` })
    return {
      records: pullRequests.map(withNormalizedState),
      document: records => ({ ...document, [key]: records }),
      envelope: document,
      bytes: response.bytes,
    }
  },
}

interface StateSegment {
  readonly state: string | undefined
}

/** The pages of the list: `cursor` and `take` are members of the body itself. */
const protocol: PageProtocol<StateSegment> = {
  content: { key, noun: 'pull request' },
  query: ({ state }, token, pageSize) => ({
    ...(state === undefined ? {} : { state }),
    ...(token === '' ? {} : { cursor: token }),
    take: pageSize,
  }),
  nextToken: ({ envelope = {} }) => readPageToken(get(envelope, 'nextCursor')),
  idOf(record) {
    const number = get(record, 'prNumber')
    return typeof number === 'number' ? String(number) : undefined
  },
  describe: ({ state }) => (state === undefined ? 'the list' : `the list of pull requests in state ${state}`),
}

const isBy = (author: string) => {
  const name = author.replace(/^@/, '').toLowerCase()
  return (record: JsonObject): boolean => getString(record, 'prAuthor')?.toLowerCase() === name
}

/** Lists all pull requests of a queue, finished ones too (docs/reference/service.md, "listPullRequests"). */
export const listPullRequests = defineOperation({
  route: 'POST /listPullRequests',
  effect: false,
  fields: pullRequestFields,
  documentFields: pullRequestListFields,
  isHostedOnly: true,
  stateFields: ['state'],
  params: {
    ...queueParams,
    /** One request for each state; without any, one request for all states. */
    states: localParam<readonly string[] | undefined>({ fills: ['state'] }),
    /** Only pull requests that ended since then, in milliseconds since 1970. */
    since: param<number | undefined>('body.since', {
      encode: since => (since === undefined ? undefined : toIso(since)),
    }),
    /** The service cannot select by author: other pull requests are dropped here. */
    author: localParam<string | undefined>(),
    limit: localParam<number | undefined>(),
    pageSize: localParam<number | undefined>({ fills: ['take'] }),
    maxPages: localParam<number | undefined>(),
  },
  decoder: pageDecoder,
  errors: { subject: 'the pull requests' },
  async pagination({ repo, targetBranch, states = [], since, author, limit, pageSize, maxPages }) {
    const segments = states.length === 0 ? [{ state: undefined }] : states.map(state => ({ state }))
    const queue = `${targetBranch} in ${repositoryName(repo)}`
    const conditions = [
      ...states,
      ...(since === undefined ? [] : [`ended since ${toIso(since)}`]),
      ...(author === undefined ? [] : [`by ${author}`]),
    ]
    const selection = conditions.length === 0 ? '' : ` (${conditions.join(', ')})`
    const { paginateList } = await import('../pagination.ts')
    return paginateList(
      segments,
      protocol,
      {
        limit,
        pageSize,
        maxPages,
        filters: author === undefined ? [] : [{ flag: '--author', keeps: isBy(author) }],
      },
      {
        describe: ({ shown }) =>
          `${pluralizeFirst(shown, 'pull request')} of the queue for ${queue}${selection}.`,
        envelope({ pages, complete, envelope: { nextCursor, ...others } }) {
          // The cursor of the last of several requests continues one state only.
          const cursor = pages === 1 && nextCursor !== undefined ? { nextCursor } : {}
          const start = since === undefined ? {} : { start: toIso(since) }
          return { ...others, ...cursor, window: { ...start, complete } }
        },
      },
    )
  },
})
