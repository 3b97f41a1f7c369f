import { describe, expect, test } from 'vitest'
import { emptyQueue, iso, pullRequest } from '../support/fake-queue.ts'
import { type FaultServer, withFaultServer } from '../support/fault-server.ts'
import { runAndCheck } from '../support/fault-server-runs.ts'
import { noon } from '../support/harness.ts'
import {
  type Behavior,
  normalBehavior,
  resetConnection,
  respondWith,
  withEffect,
  withoutEffect,
} from '../support/responders.ts'

describe('readings from a replica that is behind', () => {
  const ended = (state: string, at: number) =>
    pullRequest(7, { state, isCurrentlySubmittedToQueue: false, stateChangedAt: iso(at) })
  const hourAgo = noon - 3_600_000
  const stale = (show: Behavior['respond']): Behavior => withoutEffect(show)
  const shows = (document: object) => respondWith(200, JSON.stringify(document))
  const state = (server: FaultServer) => server.data.pulls.get(7)?.state

  test.each([
    ['the FAILED record of the attempt before', shows(ended('failed', hourAgo))],
    ['the CANCELLED record of the attempt before', shows(ended('cancelled', hourAgo))],
    ['a brief 404', respondWith(404, 'Not Found')],
    ['a CANCELLED record of the second of the sending', shows(ended('cancelled', noon))],
  ])('a lost cancel is not confirmed by %s', async (_, show) => {
    for (const readings of [[stale(show)], [stale(show), stale(show)]])
      await withFaultServer(
        {
          pulls: { 7: pullRequest(7, { state: 'testing' }) },
          script: { cancelPullRequest: withoutEffect(resetConnection), getSubmittedPullRequest: readings },
        },
        async server => {
          const { code } = await runAndCheck(server, 'pr cancel 7 --json')
          expect({ code, state: state(server) }).toEqual({ code: 11, state: 'testing' })
        },
      )
  })

  test('a MERGED record of the previous submission does not reject a cancel', () =>
    withFaultServer(
      {
        pulls: { 7: pullRequest(7) },
        script: {
          cancelPullRequest: [withEffect(resetConnection)],
          getSubmittedPullRequest: [stale(shows(ended('merged', hourAgo)))],
        },
      },
      async server => {
        const { code, documents } = await runAndCheck(server, 'pr cancel 7 --json')
        expect({ code, delivery: documents[0]?.delivery }).toEqual({ code: 0, delivery: 'confirmed-by-read' })
      },
    ))

  test.each([
    ['after', noon + 5_000, 1],
    ['before', hourAgo, 3],
  ])('an end that is dated %s the sending is read so often', (_, at, readings) =>
    withFaultServer(
      {
        pulls: { 7: ended('cancelled', at) },
        script: { cancelPullRequest: [withoutEffect(resetConnection)] },
      },
      async server => {
        const { code } = await runAndCheck(server, 'pr cancel 7 --json')
        const read = server.log.filter(({ operation }) => operation === 'getSubmittedPullRequest')
        expect({ code, readings: read.length }).toEqual({ code: 0, readings })
      },
    ),
  )

  test.each([
    ['after', noon + 5_000, 1],
    ['before', hourAgo, 3],
  ])('a merge dated %s the request rejects a cancel after this many reads', (_, at, readings) =>
    withFaultServer(
      { pulls: { 7: ended('merged', at) }, script: { cancelPullRequest: [withoutEffect(resetConnection)] } },
      async server => {
        const { code } = await runAndCheck(server, 'pr cancel 7 --json')
        const read = server.log.filter(({ operation }) => operation === 'getSubmittedPullRequest')
        expect({ code, readings: read.length }).toEqual({ code: 6, readings })
      },
    ),
  )

  test('a lost submit is not confirmed by the submission before, which was cancelled meanwhile', () =>
    withFaultServer(
      {
        pulls: { 7: ended('cancelled', noon - 1_000) },
        script: {
          submitPullRequest: [withoutEffect(resetConnection)],
          getSubmittedPullRequest: [stale(shows(pullRequest(7)))],
        },
      },
      async server => {
        const { code } = await runAndCheck(server, 'pr submit 7 --json')
        expect({ isReported: code === 0, times: server.applied.length }).toEqual({
          isReported: false,
          times: 0,
        })
      },
    ))

  const full = { ...emptyQueue, enqueuedPullRequests: [pullRequest(7)] }
  test('a deleted queue that still shows with pull requests is not reported as refused', async () => {
    for (const count of [1, 2])
      await withFaultServer(
        {
          script: {
            deleteQueue: [withEffect(resetConnection)],
            getQueue: Array.from({ length: count }, () => stale(shows(full))),
          },
        },
        async server => {
          const { code, documents } = await runAndCheck(server, 'queue delete --yes --json')
          expect({ code, delivery: documents[0]?.delivery }).toEqual({
            code: 0,
            delivery: 'confirmed-by-read',
          })
        },
      )
  })

  test('a queue that is not there yet on a replica is not reported as deleted', () =>
    withFaultServer(
      {
        script: {
          deleteQueue: withoutEffect(resetConnection),
          getQueue: [stale(respondWith(404, 'Not Found'))],
        },
      },
      async server => {
        const { code } = await runAndCheck(server, 'queue delete --yes --json')
        expect({ code, isThere: server.data.queue !== undefined }).toEqual({ code: 11, isThere: true })
      },
    ))

  test('a queue that shows with other settings first is not reported as refused', () =>
    withFaultServer(
      {
        queue: null,
        script: {
          createQueue: [withEffect(resetConnection)],
          getQueue: [stale(shows({ ...emptyQueue, enqueuedPullRequests: [] }))],
        },
      },
      async server => {
        const { code } = await runAndCheck(server, 'queue create --mode parallel --json')
        expect({ code, times: server.applied.length }).toEqual({ code: 0, times: 1 })
      },
    ))
})

describe('a rejected retry proves nothing if the first request explains it', () => {
  const rows: readonly (readonly [
    line: string,
    operation: string,
    reads: string,
    statuses: readonly number[],
  ])[] = [
    ['pr cancel 7', 'cancelPullRequest', 'getSubmittedPullRequest', [404, 401, 403]],
    ['pr submit 7', 'submitPullRequest', 'getSubmittedPullRequest', [409, 401, 403]],
    ['queue delete --yes', 'deleteQueue', 'getQueue', [404, 401, 403]],
    ['queue create --mode parallel', 'createQueue', 'getQueue', [409, 401, 403]],
    ['queue update --concurrency 5', 'updateQueue', 'getQueue', [401, 403]],
  ]
  const stages = {
    cancelPullRequest: { pulls: { 7: pullRequest(7) } },
    submitPullRequest: {},
    deleteQueue: {},
    createQueue: { queue: null },
    updateQueue: {},
  }
  for (const [line, operation, reads, statuses] of rows)
    test.each(statuses)(`${line}: %i`, async status => {
      const stage = Object.entries(stages).find(([name]) => name === operation)?.[1]
      const script = { [operation]: [withoutEffect(resetConnection), withoutEffect(respondWith(status))] }
      await withFaultServer({ ...stage, script }, async server => {
        const { code, documents } = await runAndCheck(server, `${line} --json`)
        const delivery = documents[0]?.delivery
        const readings = server.log.filter(one => one.operation === reads).length
        expect({ code, delivery, readings }).toEqual({ code: 11, delivery: 'unknown', readings: 6 })
      })
    })

  test('a reading that shows the change confirms it', () =>
    withFaultServer(
      {
        pulls: { 7: pullRequest(7) },
        script: {
          cancelPullRequest: [withoutEffect(resetConnection), withoutEffect(respondWith(404))],
          getSubmittedPullRequest: [
            normalBehavior,
            normalBehavior,
            {
              ...normalBehavior,
              beforeReply: ({ data: stage }) =>
                stage.pulls.set(
                  7,
                  pullRequest(7, {
                    state: 'cancelled',
                    isCurrentlySubmittedToQueue: false,
                    stateChangedAt: iso(stage.now()),
                  }),
                ),
            },
          ],
        },
      },
      async server => {
        const { code, documents } = await runAndCheck(server, 'pr cancel 7 --json')
        expect({ code, delivery: documents[0]?.delivery }).toEqual({ code: 0, delivery: 'confirmed-by-read' })
      },
    ))
})

describe('an unknown outcome stays unknown', () => {
  test.each([409, 400])('`queue delete` does not report a rejection: %i for the retry', status =>
    withFaultServer(
      {
        script: {
          deleteQueue: [
            withoutEffect(resetConnection),
            withoutEffect(respondWith(status, 'The queue is not empty')),
          ],
          getQueue: [
            normalBehavior,
            normalBehavior,
            normalBehavior,
            ...Array.from({ length: 6 }, () => withoutEffect(respondWith(503))),
          ],
        },
      },
      async server => {
        const { code, documents, sentence } = await runAndCheck(server, 'queue delete --yes --json')
        expect({ code, receipt: documents[0] }).toMatchObject({
          code: 11,
          receipt: { ok: false, delivery: 'unknown', exit: 11 },
        })
        expect(sentence).toContain('It is unknown whether the change was applied.')
        expect(sentence).not.toMatch(/is not empty: /)
      },
    ),
  )

  test('`queue delete --cancel-all` ends with it before it deletes', () =>
    withFaultServer(
      {
        pulls: { 7: pullRequest(7) },
        script: {
          cancelPullRequest: withoutEffect(resetConnection),
          getSubmittedPullRequest: withoutEffect(respondWith(503)),
        },
      },
      async server => {
        const { code } = await runAndCheck(server, 'queue delete --cancel-all --yes')
        const deletes = server.log.filter(({ operation }) => operation === 'deleteQueue')
        expect({ code, deletes: deletes.length }).toEqual({ code: 11, deletes: 0 })
      },
    ))

  test.each([
    ['an update', {}, 'updateQueue'],
    ['a creation', { queue: null }, 'createQueue'],
  ])('`queue apply`: of %s', (_, stage, operation) =>
    withFaultServer(
      {
        ...stage,
        script: {
          [operation]: withoutEffect(resetConnection),
          getQueue: [normalBehavior, ...Array.from({ length: 20 }, () => withoutEffect(respondWith(503)))],
        },
      },
      async server => {
        const files = { 'queue.yaml': 'settings:\n  mode: parallel\n' }
        const { code, documents } = await runAndCheck(server, 'queue apply -f queue.yaml --yes --json', {
          files,
        })
        expect({ code, receipt: documents[0] }).toMatchObject({
          code: 11,
          receipt: { ok: false, delivery: 'unknown', exit: 11 },
        })
      },
    ),
  )
})

describe('settings that a reading cannot show', () => {
  const hiding = withoutEffect(respondWith(200, JSON.stringify({ ...emptyQueue, enqueuedPullRequests: [] })))
  test.each([
    ['queue update --set newSetting=true', 'updateQueue', {}],
    ['queue update --concurrency 1 --set newSetting=true', 'updateQueue', {}],
    ['queue create --set newSetting=true', 'createQueue', { queue: null }],
    ['api updateQueue -F pr.number=3', 'updateQueue', {}],
    ['api updateQueue', 'updateQueue', {}],
  ])('say nothing of whether it was applied: %s', (line, operation, stage) =>
    withFaultServer(
      { ...stage, script: { [operation]: [withEffect(resetConnection)], getQueue: hiding } },
      async server => {
        const { code, documents } = await runAndCheck(server, `${line} --json`)
        expect({ code, delivery: documents[0]?.delivery, times: server.applied.length }).toEqual({
          code: 11,
          delivery: 'unknown',
          times: 1,
        })
      },
    ),
  )

  test('required statuses are the same in any order', () => {
    const there = { ...emptyQueue, requiredStatuses: ['b', 'a'], enqueuedPullRequests: [] }
    const script = {
      updateQueue: [withoutEffect(resetConnection)],
      getQueue: withoutEffect(respondWith(200, JSON.stringify(there))),
    }
    return withFaultServer({ script }, async server => {
      const line = 'queue update --required-status a --required-status b --json'
      expect(await runAndCheck(server, line)).toMatchObject({ code: 0 })
      expect(server.log.length).toBe(2)
    })
  })
})
