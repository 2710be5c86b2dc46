from towline.activity import RetryPolicy as RetryPolicy
from towline.client import Client as Client
from towline.exceptions import ApplicationError as ApplicationError
from towline.worker import Worker as Worker
