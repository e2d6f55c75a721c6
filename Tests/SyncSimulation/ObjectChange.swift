package import TarnSync

/// The change of one object in one commit.
package enum ObjectChange: Equatable, Sendable {
  case created(ObjectRow<Int>)
  case deleted(incarnation: Int64)
  case edited(incarnation: Int64, [String: Edit])

  /// A property before and after.
  package struct Edit: Equatable, Sendable {
    /// The content that the commit found.
    package var before: Content<Int>
    package var after: Content<Int>

    package init(from before: Content<Int>, to after: Content<Int>) {
      self.before = before
      self.after = after
    }
  }
}
