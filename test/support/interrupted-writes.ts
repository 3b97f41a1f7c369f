export type Signal = readonly [name: NodeJS.Signals, exit: number]
export const sigint: Signal = ['SIGINT', 130]
export const signals: readonly Signal[] = [sigint, ['SIGTERM', 143], ['SIGHUP', 129]]
