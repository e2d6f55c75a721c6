// Tests use the server as a part of their support.
@_exported import LocalServer
