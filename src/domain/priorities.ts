/** The numbers of the priorities that have names (docs/reference/service.md, "Priorities"). */
const names: ReadonlyMap<number, string> = new Map([
  [0, 'urgent'],
  [10, 'high'],
  [100, 'medium'],
  [200, 'low'],
])

/** Returns the name of a priority, or its number if it has none. */
export const priorityName = (priority: number): string => names.get(priority) ?? String(priority)
