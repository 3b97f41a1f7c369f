/** The labels of the queue for main, and of its bisections. */
export const main = 'repo="acme/web",branch="main",queue_type="main"'
export const bisection = 'repo="acme/web",branch="main",queue_type="bisection"'

const bounds = ['60', '300', '600', '900', '1800', '3600', '5400', '7200', '+Inf']

/** The lines of the buckets of a histogram, from the cumulative counts of the last bounds of the service. */
export const bucketLines = (
  name: string,
  labels: string,
  counts: readonly (number | string)[],
): readonly string[] =>
  counts.map(
    (count, index) =>
      `${name}_bucket{${labels},le="${bounds[index + bounds.length - counts.length]}"} ${count}`,
  )
