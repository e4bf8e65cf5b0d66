import type { MachineDefinition } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useHasRole, useLive } from '../api/useLive'
import { DefinitionNote } from '../components/DefinitionNote'
import { EditMachineForm } from '../components/EditMachineForm'
import { EmptyState } from '../components/EmptyState'
import { ThresholdPanel } from '../components/ThresholdPanel'
import { link } from '../lib/route'
import { t } from '../i18n'

/** The settings of a machine, to be changed without a file. */
export function EditMachine({ id }: { id: string }) {
  const isAdmin = useHasRole('admin')
  const machine = useLive().machines[id]
  const { content, error, refetch } = useFetched<MachineDefinition>(isAdmin && machine ? url(`machines/${id}/settings`) : null)
  if (!isAdmin || !machine)
    return (
      <EmptyState isPage title={isAdmin ? t('setup.edit.noMachine', { id }) : t('setup.edit.needsAdmin')}>
        <a href={link('overview')}>{t('setup.edit.back')}</a>
      </EmptyState>
    )
  return (
    <div className="narrow">
      <p>
        <a href={link('machine', id)}>{t('setup.edit.back')}</a>
      </p>
      <h1>{t('setup.edit.title', { name: machine.name || machine.id })}</h1>
      {content ? (
        <>
          <DefinitionNote definition={content} onChanged={refetch} />
          <EditMachineForm machine={machine} definition={content} />
          <ThresholdPanel machine={machine} />
        </>
      ) : (
        <EmptyState title={error || t('common.loading')} />
      )}
    </div>
  )
}
