export const habits = [['guard', 'disable off remove rm --uninstall', 'guard uninstall']] as const
