"""What is said about machines: every type that leaves the process, defined once.

The HTTP API, the live stream of the page, MQTT, webhooks, notifications and exports send these
models. The TypeScript types of the page are generated from them, and test fakes are built with
them.
Times are seconds since 1970, UTC. Scores: higher = more anomalous.
"""

from ssdpt.monitor.messages.base import STATES as STATES
from ssdpt.monitor.messages.base import FloatOrNull as FloatOrNull
from ssdpt.monitor.messages.base import MachineState as MachineState
from ssdpt.monitor.messages.base import Seconds as Seconds
from ssdpt.monitor.messages.base import UnknownMachine as UnknownMachine
from ssdpt.monitor.messages.changes import Attachment as Attachment
from ssdpt.monitor.messages.changes import EventChanged as EventChanged
from ssdpt.monitor.messages.changes import EventDelivery as EventDelivery
from ssdpt.monitor.messages.changes import Heartbeat as Heartbeat
from ssdpt.monitor.messages.changes import MachineChanged as MachineChanged
from ssdpt.monitor.messages.changes import MachineRemoved as MachineRemoved
from ssdpt.monitor.messages.changes import Message as Message
from ssdpt.monitor.messages.changes import Notification as Notification
from ssdpt.monitor.messages.changes import ReadingTaken as ReadingTaken
from ssdpt.monitor.messages.changes import ServiceChanged as ServiceChanged
from ssdpt.monitor.messages.changes import ServiceStarted as ServiceStarted
from ssdpt.monitor.messages.changes import ServiceStopped as ServiceStopped
from ssdpt.monitor.messages.changes import StateChanged as StateChanged
from ssdpt.monitor.messages.events import Acknowledgement as Acknowledgement
from ssdpt.monitor.messages.events import Comment as Comment
from ssdpt.monitor.messages.events import Episode as Episode
from ssdpt.monitor.messages.events import Event as Event
from ssdpt.monitor.messages.events import EventGroup as EventGroup
from ssdpt.monitor.messages.events import EventKind as EventKind
from ssdpt.monitor.messages.events import EventLabel as EventLabel
from ssdpt.monitor.messages.events import EventLevel as EventLevel
from ssdpt.monitor.messages.events import EventState as EventState
from ssdpt.monitor.messages.events import KeptRecording as KeptRecording
from ssdpt.monitor.messages.events import LooksLike as LooksLike
from ssdpt.monitor.messages.events import Note as Note
from ssdpt.monitor.messages.events import NoteKind as NoteKind
from ssdpt.monitor.messages.events import Reading as Reading
from ssdpt.monitor.messages.status import BandStatus as BandStatus
from ssdpt.monitor.messages.status import BaselineStatus as BaselineStatus
from ssdpt.monitor.messages.status import ChangePoint as ChangePoint
from ssdpt.monitor.messages.status import CommissioningQuestion as CommissioningQuestion
from ssdpt.monitor.messages.status import DriftStatus as DriftStatus
from ssdpt.monitor.messages.status import EventSpectrogram as EventSpectrogram
from ssdpt.monitor.messages.status import LearningProgress as LearningProgress
from ssdpt.monitor.messages.status import Listening as Listening
from ssdpt.monitor.messages.status import MachineStatus as MachineStatus
from ssdpt.monitor.messages.status import ModelInfo as ModelInfo
from ssdpt.monitor.messages.status import OperatingData as OperatingData
from ssdpt.monitor.messages.status import OperatingDataSourceState as OperatingDataSourceState
from ssdpt.monitor.messages.status import OperatingPointStatus as OperatingPointStatus
from ssdpt.monitor.messages.status import OutputInfo as OutputInfo
from ssdpt.monitor.messages.status import OutputTest as OutputTest
from ssdpt.monitor.messages.status import SensorStatus as SensorStatus
from ssdpt.monitor.messages.status import ServiceStatus as ServiceStatus
from ssdpt.monitor.messages.status import SheddingStatus as SheddingStatus
from ssdpt.monitor.messages.status import SourceState as SourceState
from ssdpt.monitor.messages.status import Spectrogram as Spectrogram
from ssdpt.monitor.messages.status import Spectrum as Spectrum
from ssdpt.monitor.messages.weekly_report import MachineWeek as MachineWeek
from ssdpt.monitor.messages.weekly_report import WeeklyReport as WeeklyReport
from ssdpt.monitor.messages.weekly_report import WorseCode as WorseCode
from ssdpt.monitor.messages.weekly_report import Worsening as Worsening
