"""Decision trees and forests."""
