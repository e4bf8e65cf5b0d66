"""The configuration file, monitor.yaml: which machines are monitored, and who is notified.

Each kind of source and output has its settings beside its class, in `ssdpt.monitor.sources` and
`ssdpt.monitor.outputs`, or in another package. What all kinds share is here.
"""

from ssdpt.monitor.config.config_file import read_current_form as read_current_form
from ssdpt.monitor.config.config_file import read_monitor_config as read_monitor_config
from ssdpt.monitor.config.machine_settings import MACHINE_ID as MACHINE_ID
from ssdpt.monitor.config.machine_settings import MachineSettings as MachineSettings
from ssdpt.monitor.config.machine_settings import SensorSettings as SensorSettings
from ssdpt.monitor.config.monitor_config import STORE_FILE as STORE_FILE
from ssdpt.monitor.config.monitor_config import MonitorConfig as MonitorConfig
from ssdpt.monitor.config.monitor_config import ReportSettings as ReportSettings
from ssdpt.monitor.config.monitor_config import RetentionSettings as RetentionSettings
from ssdpt.monitor.config.monitor_config import store_url as store_url
from ssdpt.monitor.config.operating_data_settings import (
    OperatingDataSettings as OperatingDataSettings,
)
from ssdpt.monitor.config.output_settings import OutputSettings as OutputSettings
from ssdpt.monitor.config.source_settings import ChannelSettings as ChannelSettings
from ssdpt.monitor.config.source_settings import PlaybackSettings as PlaybackSettings
from ssdpt.monitor.config.source_settings import SourceSettings as SourceSettings
