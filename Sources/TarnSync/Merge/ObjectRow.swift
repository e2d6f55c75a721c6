/// An object as a replica or the server has it.
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

/// The change of one object in one commit.
package enum ObjectChange<Value: Hashable & Sendable>: Equatable, Sendable {
  case created(ObjectRow<Value>)
  case deleted(incarnation: Int64)
  case edited(incarnation: Int64, [String: Edit])

  /// A property before and after.
  package struct Edit: Equatable, Sendable {
    /// The content that the commit found.
    package var before: Content<Value>
    package var after: Content<Value>

    package init(from before: Content<Value>, to after: Content<Value>) {
      self.before = before
      self.after = after
    }
  }
}
