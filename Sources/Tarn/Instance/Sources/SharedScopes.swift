import TarnStore

/// Scopes bound to a schema, shared by all sources of an instance whose elements are of the same
/// classes: most observers look equally far.
///
/// Confined to the instance's scheduler.
package final class SharedScopes {
  private struct Name: Hashable {
    let scope: Scope
    let classes: Set<ClassID>
    let epoch: UInt64
  }

  /// With more than this, observers have key paths of their own, and all are bound again.
  private static let most = 64

  private var known: [Name: BoundScope] = [:]
  /// Each of them as the only one of a source, in memory that all such sources share.
  private var alone: [ObjectIdentifier: [BoundScope]] = [:]

  package init() {}

  func bound(_ scope: Scope, from classes: Set<ClassID>, _ schema: SchemaView) -> BoundScope {
    let name = Name(scope: scope, classes: classes, epoch: schema.epoch)
    if let known = known[name] { return known }
    if known.count == Self.most {
      known = [:]
      alone = [:]
    }
    let made = BoundScope(scope, from: classes, schema)
    known[name] = made
    alone[ObjectIdentifier(made)] = [made]
    return made
  }

  /// The scopes of a source that has only that one.
  func alone(_ scope: BoundScope) -> [BoundScope] { alone[ObjectIdentifier(scope)] ?? [scope] }
}
