export const habits = [['config', 'delete remove rm clear reset --unset', 'config unset']] as const
