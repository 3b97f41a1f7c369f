export const topicNames = ['exit-codes', 'environment', 'formatting'] as const

export type Topic = (typeof topicNames)[number]
