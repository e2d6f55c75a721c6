/// A place on the earth, in degrees.
package struct GeoPosition: Hashable, Sendable {
  package let latitude: Double
  package let longitude: Double

  /// Nil unless the latitude is within -90...90 and the longitude within -180...180.
  package init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    (self.latitude, self.longitude) = (latitude, longitude)
  }

  /// At a pole all longitudes are the same.
  var isPole: Bool { abs(latitude) == 90 }
}

/// The part of the earth's surface in a condition. The earth is a sphere here, and the border of a
/// shape belongs to it.
package enum GeoShape: Hashable, Sendable {
  /// From one latitude to another, and from one longitude eastwards to another.
  case box(bottomLeft: GeoPosition, topRight: GeoPosition)
  /// All places at most that many radians from the center.
  case circle(center: GeoPosition, radius: Double)
  /// All places inside a ring of great-circle arcs and in no hole. The first place of a ring is
  /// also the last one.
  case polygon(outer: [GeoPosition], holes: [[GeoPosition]])

  /// The problem with the shape; nil for a valid one.
  package var mistake: String? {
    do throws(GeoMistake) {
      _ = try GeoRegion(self)
      return nil
    } catch {
      return error.message
    }
  }
}

/// The problem with an invalid shape.
struct GeoMistake: Error {
  let message: String
  init(_ message: String) { self.message = message }
}

extension GeoShape: CustomStringConvertible {
  /// The shape in the syntax of `PredicateParser`.
  package var description: String {
    switch self {
    case .box(let bottomLeft, let topRight): "GEOBOX(\(bottomLeft), \(topRight))"
    case .circle(let center, let radius): "GEOCIRCLE(\(center), \(radius))"
    case .polygon(let outer, let holes):
      "GEOPOLYGON(" + ([outer] + holes).map(Self.text(of:)).joined(separator: ", ") + ")"
    }
  }

  private static func text(of ring: [GeoPosition]) -> String {
    "{" + ring.map(\.description).joined(separator: ", ") + "}"
  }
}

extension GeoPosition: CustomStringConvertible {
  /// The longitude comes first, as in the coordinates of an object.
  package var description: String { "[\(longitude), \(latitude)]" }
}

/// A shape prepared for tests of places.
final class GeoRegion: Hashable, Sendable {
  let shape: GeoShape
  private let area: Area

  private enum Area: Sendable {
    case box(GeoPosition, GeoPosition)
    case circle(SphericalVector, Double)
    case polygon(SphericalRing, holes: [SphericalRing])
  }

  /// More places would take too long to check, and to test for each object.
  private static let placesMax = 10_000

  init(_ shape: GeoShape) throws(GeoMistake) {
    self.shape = shape
    switch shape {
    case .box(let bottomLeft, let topRight):
      guard bottomLeft.latitude <= topRight.latitude else {
        throw GeoMistake("a box whose top is south of its bottom: exchange its corners")
      }
      area = .box(bottomLeft, topRight)
    case .circle(let center, let radius):
      guard radius >= 0, radius.isFinite else {
        throw GeoMistake("the radius of a circle must be 0 or more, not \(radius)")
      }
      area = .circle(SphericalVector(center), radius)
    case .polygon(let outer, let holes):
      let count = holes.reduce(outer.count) { $0 + $1.count }
      guard count <= Self.placesMax else {
        throw GeoMistake("a polygon has at most \(Self.placesMax) places, not \(count)")
      }
      let border = try SphericalRing(outer)
      var rings: [SphericalRing] = []
      for hole in holes { rings.append(try SphericalRing(hole)) }
      try border.check(holes: rings)
      area = .polygon(border, holes: rings)
    }
  }

  static func == (a: GeoRegion, b: GeoRegion) -> Bool { a === b || a.shape == b.shape }
  func hash(into hasher: inout Hasher) { hasher.combine(shape) }

  func contains(_ place: GeoPosition) -> Bool {
    switch area {
    case .box(let bottomLeft, let topRight):
      (bottomLeft.latitude...).contains(place.latitude) && place.latitude <= topRight.latitude
        && (place.isPole || Self.spans(bottomLeft.longitude, topRight.longitude, place.longitude)
          || abs(place.longitude) == 180
            && Self.spans(bottomLeft.longitude, topRight.longitude, -place.longitude))
    case .circle(let center, let radius):
      center.angle(to: SphericalVector(place)) <= radius
    case .polygon(let outer, let holes):
      Self.contains(SphericalVector(place), outer, holes)
    }
  }

  /// Whether a longitude lies on the way east from one to another.
  private static func spans(_ west: Double, _ east: Double, _ longitude: Double) -> Bool {
    west <= east
      ? west <= longitude && longitude <= east : longitude >= west || longitude <= east
  }

  private static func contains(
    _ place: SphericalVector, _ outer: SphericalRing, _ holes: [SphericalRing]
  ) -> Bool {
    outer.side(of: place) != .outside && holes.allSatisfy { $0.side(of: place) != .inside }
  }
}
