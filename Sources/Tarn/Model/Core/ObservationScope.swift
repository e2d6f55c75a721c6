import TarnStore

/// How far an observer looks into the elements of a collection.
public struct _ObservationScope: Sendable {
  enum Part: Sendable {
    case resolved(Scope)
    case keyPaths([String])
  }
  let part: Part

  static let standard = _ObservationScope(part: .resolved(.standard))

  /// Without key paths, nil and empty mean the same.
  init(keyPaths: [String]?) {
    guard let keyPaths, !keyPaths.isEmpty else {
      self = .standard
      return
    }
    part = .keyPaths(keyPaths)
  }

  init(depth: Int) {
    require(depth >= 0, "The depth of an observation must be 0 or more, not \(depth).")
    part = .resolved(.depth(depth))
  }

  private init(part: Part) { self.part = part }
}

extension RealmCore {
  /// Traps for a key path with a property that the elements' class does not have.
  func reach(of look: _ObservationScope, in source: any ObservedSource, isDynamic: Bool) -> Scope {
    switch look.part {
    case .resolved(let scope): return scope
    case .keyPaths(let keyPaths):
      let roots = bindings(of: source.elementClasses, isDynamic: isDynamic)
      return KeyPathResolver.observedReach(keyPaths, from: roots, self) ?? .standard
    }
  }
}
