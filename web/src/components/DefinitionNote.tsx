import type { MachineDefinition } from '../api/types'
import { remove, url } from '../api/client'
import { useAction } from '../lib/useAction'
import { t } from '../i18n'
import { ConfirmButton } from './ConfirmButton'
import { ErrorMessage } from './ErrorMessage'

/** Says where a machine is defined, unless it is on the page; and which definition counts if there are two. */
export function DefinitionNote({ definition, onChanged }: { definition: MachineDefinition; onChanged: () => void }) {
  const action = useAction()
  const { file, defined_in, also_on_page, settings } = definition
  if (defined_in === 'page') return null
  return (
    <div className="note" role="note">
      <p>{defined_in === 'demo' ? t('setup.edit.inDemo') : t('setup.edit.inFile', { file })}</p>
      {also_on_page && (
        <>
          <p>{t('setup.edit.both', { file })}</p>
          <ConfirmButton
            title={t('setup.edit.removeIgnored')}
            question={t('setup.edit.removeIgnoredQuestion', { file })}
            confirm={t('setup.edit.removeIgnored')}
            action={action}
            work={async () => {
              await remove(url(`machines/${settings.id}/settings`))
              onChanged()
            }}
          />
          <ErrorMessage message={action.error} />
        </>
      )}
    </div>
  )
}
