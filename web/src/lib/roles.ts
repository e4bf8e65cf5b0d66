import type { Role } from '../api/types'
import { named } from '../i18n'

/** What users may do, from the least to the most. */
export const ROLES: readonly Role[] = ['viewer', 'operator', 'admin']

export const ROLE_NAMES: Readonly<Record<Role, string>> = named('common.roles', ROLES)
