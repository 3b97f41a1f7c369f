/** The topics of `mergeq help <topic>`. */
export const topicNames = ['exit-codes', 'environment', 'formatting'] as const

/** A topic of `mergeq help <topic>`. */
export type Topic = (typeof topicNames)[number]
