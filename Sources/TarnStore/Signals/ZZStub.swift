package final class SignalFile: Sendable {
  static func open(beside e: Environment) throws(StorageError) -> SignalFile { SignalFile() }
  package var version: Version { .zero }
  func raise(to v: Version) {}
  func wake() {}
}
package struct GateToken: ~Copyable {}
package final class WriteGate: Sendable {
  init(_ s: SignalFile) {}
  package func acquire() throws(StorageError) -> GateToken { GateToken() }
  package func release(_ t: consuming GateToken) {}
}
