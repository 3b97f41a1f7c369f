interface SpecialRun {
  /** The exit code that is right; 0 where this is left out. */
  readonly code?: number
  /** What happened before. */
  readonly before?: string
}

const bounds = `mergeq metrics check 'sum(mq_depth_current{queue_type="main"}) < 50' 'quantile(0.95, mq_pr_time_in_queue_1h_seconds{queue_type="main",conclusion="merged"}) <= 3600'`
const merged = 'mergeq pr submit 7; mergeq pr wait 7 --interval 1s'

/** Command lines that need something before them, or end with another code than 0. */
export const specialRuns: Readonly<Record<string, SpecialRun>> = {
  "mergeq sandbox exec --scenario failure -- sh -c 'mergeq pr submit 9 && mergeq pr wait 9 --interval 1s'": {
    code: 3,
  },
  'mergeq sandbox start --port 8080 --scenario flaky': { code: 130 },
  'mergeq flaky get "cart totals merges"': { code: 2 },
  'mergeq flaky match --since 7d reports/*.xml': { code: 21 },
  [bounds]: { before: merged },
  'mergeq sandbox simulate --from-metrics --concurrency 1,2,4': { before: merged },
}
