import Foundation

@testable import Tarn

/// What an observer of a projection was told, one text for each call.
final class ProjectionRecorder<P: ProjectionObservable> {
  private(set) var calls: [String] = []
  private(set) var objects: [P] = []
  private var token: NotificationToken?

  init(_ projection: P, _ keyPaths: [String]? = nil) {
    token = projection.observe(keyPaths: keyPaths) { [unowned self] in record($0) }
  }

  init(_ projection: P, typed keyPaths: [PartialKeyPath<P>]) {
    token = projection.observe(keyPaths: keyPaths) { [unowned self] in record($0) }
  }

  private func record(_ change: ObjectChange<P>) {
    switch change {
    case .change(let object, let properties):
      objects.append(object)
      calls.append(properties.map(\.text).joined(separator: ", "))
    case .deleted: calls.append("deleted")
    case .error(let error): calls.append("\(error)")
    }
  }

  /// The calls since they were taken last.
  func take() -> [String] {
    defer { calls = [] }
    return calls
  }
}

extension PropertyChange {
  /// "name: Ida > Eva"
  var text: String {
    func text(_ value: Any?) -> String {
      switch value {
      case nil: "nil"
      case let climber as Climber: "climber \(climber.id)"
      case let value?: "\(value)"
      }
    }
    return "\(name): \(text(oldValue)) > \(text(newValue))"
  }
}
