import { maxJsonSize } from '../domain/limits.ts'
import { get, getString, isObject, type Json, type JsonObject } from '../json.ts'
import { missingPartError, type ResponseDecoder, readPageToken, recordDecoder } from './decode.ts'
import type { ListResult, PageProtocol } from './list-reader.ts'

export interface TestPages extends Pick<PageProtocol<object>, 'content' | 'nextToken' | 'idOf'> {
  pageQuery(token: string, pageSize: number): Readonly<Record<string, Json>>
  readonly decoder: ResponseDecoder
  envelope(result: ListResult, window: JsonObject): JsonObject
}

/**
 * The pages of a list of tests.
 *
 * @param key the member of the response that has the records
 * @param idKey the member of a record that identifies the test
 */
export const createTestPages = (key: string, idKey: string): TestPages => ({
  content: { key, noun: 'test' },
  nextToken: ({ page = {} }) => readPageToken(get(page, 'next_page_token')),
  idOf: test => getString(test, idKey),
  pageQuery: (token, pageSize) => ({ page_query: { page_size: pageSize, page_token: token } }),
  decoder: {
    expects: 'json',
    maxBytes: maxJsonSize,
    read(response) {
      const [document = {}] = recordDecoder(record => record).read(response).records
      const { page, [key]: tests } = document
      if (!Array.isArray(tests) || !tests.every(isObject))
        throw missingPartError(`list of ${key.replaceAll('_', ' ')}`)
      return {
        records: tests,
        document: records => ({ ...document, [key]: records }),
        envelope: document,
        ...(isObject(page) ? { page } : {}),
        bytes: response.bytes,
      }
    },
  },
  envelope({ shown, pages, complete, envelope, page }, window) {
    const totals = { total_rows: shown, total_pages: pages }
    return { ...envelope, page: pages === 1 ? page : totals, window: { ...window, complete } }
  },
})

export const pagesOfTests = createTestPages('tests', 'id')
