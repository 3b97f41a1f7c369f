import { expect } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/base/json.ts'
import { scenarios } from '../../src/sandbox/scenarios.ts'
import { createService, type SandboxRequest } from '../../src/sandbox/service.ts'
import type { StateOptions } from '../../src/sandbox/state.ts'
import type { ScenarioName } from '../../src/values/scenario-names.ts'

export const noon = Date.parse('2026-01-05T12:00:00.250Z')
export const dialects = ['both', 'hosted'] as const

export const repo = { host: 'github.com', owner: 'acme', name: 'web' }
export const onQueue = { repo, targetBranch: 'main' }
export const onPr = (number: number, more: JsonObject = {}) => ({ ...onQueue, pr: { number }, ...more })

export type TestServiceOptions = Omit<StateOptions, 'now'> & { readonly scenario?: ScenarioName }

/** Creates a service with a virtual clock, and functions that send requests to it. */
export function createTestService({ scenario = 'happy', ...options }: TestServiceOptions = {}) {
  let now = noon
  const service = createService({ ...options, now: () => now }, scenarios[scenario])
  const raw = (call: Partial<SandboxRequest>) =>
    service.handle({
      method: 'POST',
      path: '/v1/getQueue',
      query: new Map(),
      headers: { 'x-api-token': 'sandbox' },
      body: '',
      ...call,
    })
  const send = (operation: string, body: Json) =>
    raw({ path: `/v1/${operation}`, body: JSON.stringify(body) })
  return {
    raw,
    send,
    status: (operation: string, body: Json) => send(operation, body).status,
    read(operation: string, body: Json): JsonObject {
      const answer = send(operation, body)
      expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
      const document: Json = JSON.parse(answer.body)
      if (!isObject(document)) throw new Error(answer.body)
      return document
    },
    metrics: (query: Readonly<Record<string, string>> = {}) =>
      raw({ method: 'GET', path: '/v1/getMergeQueueMetrics', query: new Map(Object.entries(query)) }),
    later: (seconds: number) => {
      now += seconds * 1000
    },
  }
}
