import type { CheckType } from '../check.ts'
import { customSql } from './custom-sql.ts'
import { dateFormat } from './date-format.ts'
import { enumeration } from './enum.ts'
import { notNull } from './not-null.ts'
import { range } from './range.ts'
import { regex } from './regex.ts'
import { unique } from './unique.ts'

/** The rules of the product, in the order the API description names them. */
export const rules: CheckType[] = [notNull, unique, regex, range, enumeration, dateFormat, customSql]
