/// An object in the state of a replica or of the server.
package struct ObjectRow<Value: Hashable & Sendable>: Equatable, Sendable {
  /// A random number, new whenever an object is created under a key.
  package var incarnation: Int64
  /// Values by the name of their property.
  package var values: [String: Property]

  /// A value, and when it was last written.
  package struct Property: Equatable, Sendable {
    package var content: Content<Value>
    package var stamp: Stamp
    /// The server's stamp of the content that this one was merged with; for a content with parts
    /// that is sent.
    package var seen: Stamp?

    package init(_ content: Content<Value>, _ stamp: Stamp, seen: Stamp? = nil) {
      self.content = content
      self.stamp = stamp
      self.seen = seen
    }
  }

  package init(incarnation: Int64, values: [String: Property]) {
    self.incarnation = incarnation
    self.values = values
  }
}
